import type { FormEvent, ReactNode } from "react";
import { useTitle } from "../../title.ts";

/** One form in the middle of an empty page. */
export function SignInFrame(props: {
  title: string;
  lead?: ReactNode;
  onSubmit(): void;
  children: ReactNode;
}) {
  const { title, lead, onSubmit, children } = props;
  useTitle(title);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSubmit();
  };
  return (
    <main className="grid min-h-dvh place-items-start justify-center px-4 pt-[12dvh]">
      <form onSubmit={submit} noValidate className="flex w-full max-w-90 flex-col gap-4 sm:w-90">
        <header>
          <p className="text-sm font-medium text-muted">Trackside</p>
          <h1 className="text-xl font-semibold">{title}</h1>
          {lead && <div className="mt-1 text-muted">{lead}</div>}
        </header>
        {children}
      </form>
    </main>
  );
}

/** What the server said, above the button that asked. */
export function FormProblem({ children }: { children: ReactNode }) {
  return (
    <p role="alert" className="rounded-md bg-red-soft px-3 py-2 break-words text-red">
      {children}
    </p>
  );
}
