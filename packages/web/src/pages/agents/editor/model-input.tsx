import { Autocomplete as Base } from "@base-ui/react/autocomplete";
import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import { formatMoney, formatShort } from "../../../format/number.ts";
import { cx } from "../../../ui/class-names.ts";
import { ESCAPE } from "../../../ui/combobox.tsx";
import { ChevronUpDownIcon } from "../../../ui/icons.tsx";
import { type Registry, useEditor } from "./context.ts";

interface Known {
  readonly value: string;
  readonly about: string;
}

/** Any `provider:model`; those that are known are offered. */
export function ModelInput({
  value,
  onChange,
  placeholder = "provider:model",
}: {
  value: string;
  onChange(value: string): void;
  placeholder?: string;
}) {
  const { registry, readOnly } = useEditor();
  const known = useMemo(() => knownModels(registry), [registry]);
  return (
    <div className="min-w-0 flex-1">
      <Base.Root
        items={known}
        value={value}
        onValueChange={(next, { reason }) => {
          if (reason !== ESCAPE) onChange(next);
        }}
        itemToStringValue={(model: Known) => model.value}
        disabled={readOnly}
        openOnInputClick
      >
        <Base.InputGroup className="control flex w-full items-center px-0">
          <Base.Input
            placeholder={placeholder}
            spellCheck={false}
            autoCapitalize="none"
            className="min-w-0 flex-1 bg-transparent px-2 font-mono text-sm outline-none placeholder:text-faint coarse:text-lg"
          />
          <Base.Trigger
            className="grid size-7 place-items-center text-muted hover:text-ink"
            aria-label="Known models"
          >
            <ChevronUpDownIcon />
          </Base.Trigger>
        </Base.InputGroup>
        <Base.Portal>
          <Base.Positioner sideOffset={4} className="z-50 outline-none">
            <Base.Popup
              className={cx(
                "popup max-h-[min(24rem,var(--available-height))] w-(--anchor-width) min-w-64 overflow-y-auto",
                "max-w-(--available-width) data-empty:hidden",
              )}
            >
              <Base.List className="p-1 data-empty:p-0">
                {(model: Known) => (
                  <Base.Item key={model.value} value={model} className="option justify-between">
                    <span className="min-w-0 font-mono text-sm break-words">{model.value}</span>
                    <span className="shrink-0 text-xs text-muted tabular-nums">{model.about}</span>
                  </Base.Item>
                )}
              </Base.List>
            </Base.Popup>
          </Base.Positioner>
        </Base.Portal>
      </Base.Root>
    </div>
  );
}

function knownModels({ models, providers }: Registry): Known[] {
  const ready = new Set(providers.filter(hasKey).map(({ name }) => name));
  const isReady = (model: string) => ready.has(model.slice(0, model.indexOf(":")));
  return models
    .map(({ model, window, input_price, output_price }) => ({
      value: model,
      about: [
        window !== null && `${formatShort(window)} window`,
        input_price !== null &&
          output_price !== null &&
          `${formatMoney(input_price)} / ${formatMoney(output_price)}`,
      ]
        .filter(Boolean)
        .join(" · "),
    }))
    .sort((a, b) => Number(isReady(b.value)) - Number(isReady(a.value)));
}

function hasKey({ key, needs_key }: Registry["providers"][number]): boolean {
  return key !== null || !needs_key;
}

/** Whose key is missing, if one is: the agent can be saved, and its runs would fail. */
export function KeyHintFor({ models }: { models: readonly string[] }) {
  const { registry } = useEditor();
  const asked = new Set(models.map((model) => model.slice(0, Math.max(0, model.indexOf(":")))));
  const missing = registry.providers.filter((one) => asked.has(one.name) && !hasKey(one));
  if (missing.length === 0) return null;
  return (
    <>
      {missing.map(({ name }) => name).join(", ")} has no key yet, so a run would fail. Set it in{" "}
      <Link to="/settings/providers" className="text-accent underline">
        Settings, Providers
      </Link>
      .
    </>
  );
}
