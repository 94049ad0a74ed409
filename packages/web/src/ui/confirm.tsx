import { type ReactNode, useState } from "react";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";

export interface ConfirmProps {
  open: boolean;
  onClose(): void;
  /** A question that names the thing: "Delete agent clerk?" */
  title: string;
  /** What will be lost and what stays. */
  description: ReactNode;
  /** The verb again: "Delete clerk". */
  action: string;
  danger?: boolean;
  /** The dialog closes once it is done, and shows what went wrong if it was not. */
  onConfirm(): Promise<void> | void;
  children?: ReactNode;
}

export function Confirm({
  open,
  onClose,
  title,
  description,
  action,
  danger,
  onConfirm,
  children,
}: ConfirmProps) {
  const [pending, setPending] = useState(false);
  const [problem, setProblem] = useState<string>();
  const confirm = async () => {
    setPending(true);
    setProblem(undefined);
    try {
      await onConfirm();
      onClose();
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    } finally {
      setPending(false);
    }
  };
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title={title}
      description={description}
      size="small"
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind={danger ? "danger" : "primary"} pending={pending} onClick={confirm}>
            {action}
          </Button>
        </>
      }
    >
      {children}
      {problem && (
        <p role="alert" className="text-red">
          {problem}
        </p>
      )}
    </Dialog>
  );
}
