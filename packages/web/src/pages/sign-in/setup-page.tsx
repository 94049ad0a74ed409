import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { ApiProblem, client, explain, issuesByPath } from "../../api.ts";
import { meQuery } from "../../session.ts";
import { Button } from "../../ui/button.tsx";
import { Field } from "../../ui/field.tsx";
import { ErrorState } from "../../ui/states.tsx";
import { TextField } from "../../ui/text-field.tsx";
import { FormProblem, SignInFrame } from "./frame.tsx";
import { useLink } from "./link.ts";

/** The first visit: whoever holds the one-time link that the server printed becomes the first admin. */
export function SetupPage() {
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const link = useLink();
  const [name, setName] = useState("admin");
  const [password, setPassword] = useState("");
  const [again, setAgain] = useState("");
  const [tried, setTried] = useState(false);
  const setup = useMutation({
    mutationFn: (body: { link: string; name: string; password: string }) => client.finishSetup({ body }),
    onSuccess: (me) => {
      queryClient.clear();
      queryClient.setQueryData(meQuery.queryKey, me);
      void navigate({ to: "/", replace: true });
    },
  });

  if (link === undefined)
    return (
      <main className="pt-[10dvh]">
        <ErrorState
          what="This page needs the setup link"
          why="The address has no link in it, or it was used already."
          next="Open the link that the server prints when it starts without users. Restart it for a new one."
        />
      </main>
    );

  const issues = issuesByPath(setup.error);
  const problems = {
    name: issues.get("name") ?? (tried && !name ? "Enter a name." : undefined),
    password: issues.get("password") ?? (tried && !password ? "Enter a password." : undefined),
    again: tried && password !== again ? "The two passwords differ." : undefined,
  };
  const submit = () => {
    setTried(true);
    if (name && password && password === again) setup.mutate({ link, name, password });
  };
  const unplaced = setup.error instanceof ApiProblem && setup.error.issues.length === 0;
  return (
    <SignInFrame
      title="Make the first admin"
      lead="This server has no users yet. The link works once, for this form."
      onSubmit={submit}
    >
      <Field label="Name" problem={problems.name} name="name">
        <TextField
          value={name}
          onChange={setName}
          autoComplete="username"
          autoCapitalize="none"
          spellCheck={false}
        />
      </Field>
      <Field label="Password" problem={problems.password} name="password">
        <TextField
          type="password"
          value={password}
          onChange={setPassword}
          autoComplete="new-password"
          autoFocus
        />
      </Field>
      <Field label="Password again" problem={problems.again}>
        <TextField type="password" value={again} onChange={setAgain} autoComplete="new-password" />
      </Field>
      {setup.error && (unplaced || !(setup.error instanceof ApiProblem)) && (
        <FormProblem>{explain(setup.error)}</FormProblem>
      )}
      <Button type="submit" kind="primary" pending={setup.isPending}>
        Make the admin and sign in
      </Button>
    </SignInFrame>
  );
}
