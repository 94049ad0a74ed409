import { useQueryClient } from "@tanstack/react-query";
import { client, explain } from "../api.ts";
import { useMe } from "../session.ts";
import { signedOut } from "../signed-out.ts";
import { chooseTheme, type ThemeChoice, useThemeChoice } from "../theme.ts";
import { IconButton } from "../ui/button.tsx";
import { CheckIcon, MoonIcon, ScreenIcon, SunIcon, UserIcon } from "../ui/icons.tsx";
import { Menu, type MenuItem } from "../ui/menu.tsx";
import { toast } from "../ui/toast.tsx";

const THEMES = [
  { choice: "system", label: "Follow the system", icon: ScreenIcon },
  { choice: "light", label: "Light", icon: SunIcon },
  { choice: "dark", label: "Dark", icon: MoonIcon },
] as const satisfies { choice: ThemeChoice; label: string; icon: MenuItem["icon"] }[];

/** Who is signed in, the theme, and the way out. */
export function UserMenu({ onShowKeys, side }: { onShowKeys(): void; side: "top" | "bottom" }) {
  const me = useMe();
  const theme = useThemeChoice();
  const queryClient = useQueryClient();
  const signOut = async () => {
    try {
      await client.signOut();
    } catch (error) {
      toast({ kind: "problem", title: "Not signed out", detail: explain(error) });
      return;
    }
    // What one user saw is not for the next one at this browser.
    queryClient.clear();
    signedOut();
  };
  const items: (MenuItem | null)[] = [
    ...THEMES.map(({ choice, label, icon }) => ({
      label: choice === theme ? `${label} (chosen)` : label,
      icon: choice === theme ? CheckIcon : icon,
      run: () => chooseTheme(choice),
    })),
    null,
    { label: "Show the keys of this page", keys: "?", run: onShowKeys },
    { label: "Sign out", run: () => void signOut() },
  ];
  return (
    <Menu
      side={side}
      align="start"
      trigger={<IconButton icon={UserIcon} label="You, theme and sign-out" />}
      header={
        me && (
          <>
            <p className="font-medium">{me.user.name}</p>
            <p className="text-xs text-muted">{me.role}</p>
          </>
        )
      }
      items={items}
    />
  );
}
