import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { ApiProblem, client, explain } from "../../api.ts";
import { one, useSearchState } from "../../search.ts";
import { meQuery } from "../../session.ts";
import { Button } from "../../ui/button.tsx";
import { Field } from "../../ui/field.tsx";
import { samePath } from "../../ui/safe-link.ts";
import { TextField } from "../../ui/text-field.tsx";
import { FormProblem, SignInFrame } from "./frame.tsx";
import { useLink } from "./link.ts";

type Credentials = { name: string; password: string } | { link: string };

/** By name and password, or by a one-time link that stands behind "#", where no server log sees it. */
export function SignInPage() {
  const [search] = useSearchState();
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const [missing, setMissing] = useState(false);
  const link = useLink();
  const signIn = useMutation({
    mutationFn: (body: Credentials) => client.signIn({ body }),
    onSuccess: (me) => {
      queryClient.clear();
      queryClient.setQueryData(meQuery.queryKey, me);
      void navigate({ href: samePath(one(search, "redirect")), replace: true });
    },
  });
  const { mutate } = signIn;
  const used = useRef<string>(undefined);
  useEffect(() => {
    // The link works once: React may run an effect twice, the server would refuse the second time.
    if (link === undefined || used.current === link) return;
    used.current = link;
    mutate({ link });
  }, [link, mutate]);

  const submit = () => {
    if (!name || !password) return setMissing(true);
    mutate({ name, password });
  };
  const refused = signIn.error instanceof ApiProblem && signIn.error.status === 401;
  return (
    <SignInFrame
      title="Sign in"
      lead={one(search, "redirect") ? "Sign in to go on to the page you asked for." : undefined}
      onSubmit={submit}
    >
      <Field label="Name" problem={missing && !name && "Enter your name."}>
        <TextField
          value={name}
          onChange={setName}
          autoComplete="username"
          autoCapitalize="none"
          spellCheck={false}
          autoFocus
        />
      </Field>
      <Field label="Password" problem={missing && !password && "Enter your password."}>
        <TextField type="password" value={password} onChange={setPassword} autoComplete="current-password" />
      </Field>
      {signIn.error && (
        <FormProblem>
          {explain(signIn.error)}
          {refused && link !== undefined && " Ask for a new link, or sign in by name and password."}
        </FormProblem>
      )}
      <Button type="submit" kind="primary" pending={signIn.isPending}>
        Sign in
      </Button>
      <p className="text-sm text-muted">
        No account? An admin makes one in Settings, Users. The first admin is made with the setup link that
        the server prints when it starts.
      </p>
    </SignInFrame>
  );
}
