import { setNotifying, useNotifying } from "../../shell/notifications.ts";
import { Switch } from "../../ui/switch.tsx";

/** Asks the browser for permission when it is switched on. */
export function NotifySwitch() {
  const notifying = useNotifying();
  if (notifying === "unsupported") return null;
  if (notifying === "blocked")
    return (
      <p className="text-sm text-muted" title="Allow notifications for this site in the browser's settings.">
        Notifications are blocked by the browser
      </p>
    );
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the switch inside is the control
    <label className="flex h-8 items-center gap-2 text-sm text-muted">
      Notify me of new ones
      <Switch
        aria-label="Notify me of new ones"
        checked={notifying === "on"}
        onChange={(on) => void setNotifying(on)}
      />
    </label>
  );
}
