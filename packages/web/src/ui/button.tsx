import { Button as Base } from "@base-ui/react/button";
import type { ComponentProps, ReactNode } from "react";
import { cx } from "./class-names.ts";
import { type Icon, SpinnerIcon } from "./icons.tsx";

export type ButtonKind = "primary" | "plain" | "danger" | "quiet";

export interface ButtonProps extends Omit<ComponentProps<typeof Base>, "className" | "children"> {
  /** A verb and what it acts on: "Approve deploy_service". */
  children: ReactNode;
  /** `primary` once a page, `danger` for what cannot be undone. */
  kind?: ButtonKind;
  icon?: Icon;
  /** The work has begun: the button keeps its place and its focus, and does nothing more. */
  pending?: boolean;
  size?: "normal" | "small";
  className?: string;
}

const KINDS: Record<ButtonKind, string> = {
  primary: "border-transparent bg-accent-fill text-on-accent hover:not-data-disabled:brightness-110",
  plain: "border-control bg-canvas text-ink hover:not-data-disabled:bg-sunken",
  danger: "border-transparent bg-red-fill text-on-accent hover:not-data-disabled:brightness-110",
  quiet: "border-transparent bg-transparent text-muted hover:not-data-disabled:bg-sunken hover:text-ink",
};

export function Button({
  children,
  kind = "plain",
  icon: ButtonIcon,
  pending = false,
  size = "normal",
  disabled,
  className,
  ...rest
}: ButtonProps) {
  return (
    <Base
      {...rest}
      disabled={disabled || pending}
      focusableWhenDisabled={pending || rest.focusableWhenDisabled}
      aria-busy={pending || undefined}
      className={cx(
        "relative inline-flex items-center justify-center gap-1.5 rounded-md border px-3 font-medium whitespace-nowrap select-none",
        size === "small" ? "h-7 px-2 text-sm" : "h-8 coarse:h-10",
        "data-disabled:cursor-not-allowed",
        !pending && "data-disabled:border-line data-disabled:bg-panel data-disabled:text-faint",
        KINDS[kind],
        className,
      )}
    >
      {ButtonIcon && <ButtonIcon className={cx("shrink-0", pending && "invisible")} />}
      {/* The label stays in place and only turns invisible, so the button keeps its width. */}
      <span className={cx(pending && "opacity-0")}>{children}</span>
      {pending && (
        <span className="absolute inset-0 grid place-items-center">
          <SpinnerIcon className="spin" />
        </span>
      )}
    </Base>
  );
}

export interface IconButtonProps extends Omit<ComponentProps<typeof Base>, "className" | "children"> {
  icon: Icon;
  /** What it does, for those who do not see the icon and for those who wonder. */
  label: string;
  pending?: boolean;
  size?: "normal" | "small";
  className?: string;
}

export function IconButton({
  icon: ButtonIcon,
  label,
  pending = false,
  size = "normal",
  disabled,
  className,
  ...rest
}: IconButtonProps) {
  return (
    <Base
      title={label}
      {...rest}
      aria-label={label}
      aria-busy={pending || undefined}
      disabled={disabled || pending}
      focusableWhenDisabled={pending}
      className={cx(
        "inline-grid place-items-center rounded-md text-muted hover:not-data-disabled:bg-sunken hover:not-data-disabled:text-ink",
        "data-disabled:cursor-not-allowed data-disabled:text-faint",
        size === "small" ? "size-6 coarse:size-8" : "size-8 coarse:size-10",
        className,
      )}
    >
      {pending ? <SpinnerIcon className="spin" /> : <ButtonIcon />}
    </Base>
  );
}
