import { Fieldset } from "@base-ui/react/fieldset";
import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useBlocker, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { flushSync } from "react-dom";
import type { JsonObject } from "trackside/schema";
import { ApiProblem, client, explain } from "../../../api.ts";
import { plural } from "../../../format/number.ts";
import { useKeys } from "../../../keys/use-keys.ts";
import { one, useSearchState } from "../../../search.ts";
import { Button } from "../../../ui/button.tsx";
import { cx } from "../../../ui/class-names.ts";
import { Confirm } from "../../../ui/confirm.tsx";
import { Field } from "../../../ui/field.tsx";
import { WarningIcon } from "../../../ui/icons.tsx";
import { KeyHint } from "../../../ui/key-hint.tsx";
import { Tabs } from "../../../ui/tabs.tsx";
import { TextArea, TextField } from "../../../ui/text-field.tsx";
import { toast } from "../../../ui/toast.tsx";
import { type Issue, Issues } from "../draft/issues.ts";
import { type AgentRecord, ConflictDialog } from "./conflict-dialog.tsx";
import { type Editor, EditorContext, type Registry } from "./context.ts";
import { useDebounced } from "./debounced.ts";
import { goToField } from "./go-to-field.ts";
import { ProblemSummary } from "./problem-summary.tsx";
import { SECTIONS } from "./sections.tsx";
import { type Base, useDraft } from "./use-draft.ts";

export interface AgentEditorProps {
  /** Undefined for an agent that is being made. */
  record?: AgentRecord;
  start: Base;
  registry: Registry;
  readOnly: boolean;
  /** Above the tabs: why it is read-only. */
  notice?: ReactNode;
}

const baseOf = ({ definition, autonomous_mode }: AgentRecord): Base => ({
  definition: definition as JsonObject, // the API sends JSON
  autonomous: autonomous_mode,
});

/** Every field of a definition with the control it deserves, and the same as JSON. */
export function AgentEditor({ record, start, registry, readOnly, notice }: AgentEditorProps) {
  const form = useDraft(start);
  const [saved, setSaved] = useState(record);
  const [note, setNote] = useState("");
  const [attempted, setAttempted] = useState(false);
  const [theirs, setTheirs] = useState<AgentRecord>();
  const [search, setSearch] = useSearchState();
  const tab = one(search, "tab") === "json" ? "json" : "form";
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const summary = useRef<HTMLElement>(null);
  const leaving = useRef(false);
  const { dirty, definition, text, unreadable, autonomous } = form;
  const mayEdit = !readOnly;

  const rested = useDebounced(text);
  const check = useQuery({
    queryKey: ["agents", "validate", rested],
    queryFn: ({ signal }) => client.validateAgent({ body: { definition: JSON.parse(rested) } }, { signal }),
    enabled: mayEdit,
    placeholderData: keepPreviousData,
    staleTime: 5000,
  });

  const save = useMutation({
    mutationFn: ({ over }: { over?: number }) => {
      const body = { definition, autonomous_mode: autonomous, ...(note.trim() && { note: note.trim() }) };
      return saved === undefined
        ? client.createAgent({ body })
        : client.saveAgent({
            params: { name: saved.name },
            body: { ...body, version: over ?? saved.version },
          });
    },
    onSuccess: (done) => {
      // Whoever typed on while it was saved keeps what they typed.
      const wentOn = JSON.stringify(sent.current) !== JSON.stringify(latest.current);
      flushSync(() => {
        form.rebase(baseOf(done), wentOn);
        setSaved(done);
        setNote("");
        setAttempted(false);
        setTheirs(undefined);
      });
      toast({ title: `Agent ${done.name} is saved`, detail: `Version ${done.version}` });
      // Its page opens with what was just saved, not with a skeleton.
      const figures = { last_run: null, error_rate: null, pending_approvals: 0, ...record };
      queryClient.setQueryData(["agents", "one", done.name], { ...figures, ...done });
      for (const part of ["one", "list", "versions"])
        void queryClient.invalidateQueries({ queryKey: ["agents", part] });
      void queryClient.invalidateQueries({ queryKey: ["registry"] });
      if (done.name === saved?.name) return;
      leaving.current = true;
      void navigate({
        to: "/agents/$name",
        params: { name: done.name },
        search: search as never, // the router types the search of each route; ours is plain everywhere
        replace: true,
      }).then(() => {
        leaving.current = false;
      });
    },
    onError: async (error) => {
      if (error instanceof ApiProblem && error.code === "version_conflict" && saved) {
        const now = await queryClient
          .fetchQuery({
            queryKey: ["agents", "one", saved.name],
            queryFn: () => client.getAgent({ params: { name: saved.name } }),
            staleTime: 0,
          })
          .catch(() => undefined);
        if (now) return setTheirs(now);
      }
      showSummary();
    },
  });
  // What was sent, and what stands there now, to tell whether somebody typed on.
  const sent = useRef<unknown>(undefined);
  const latest = useRef<unknown>(undefined);
  latest.current = definition;

  const issues = useMemo(() => {
    const refused = save.error instanceof ApiProblem && !save.isPending ? save.error.issues : [];
    // What the server refused counts until the draft is checked anew.
    const found: readonly Issue[] =
      rested === text && check.data && !check.isPlaceholderData
        ? check.data.issues
        : (check.data?.issues ?? refused);
    const places = new Set(unreadable.map(({ path }) => path));
    const all = [...unreadable, ...found.filter(({ path }) => !places.has(path))];
    const isNew = saved === undefined && !attempted;
    return new Issues(
      isNew
        ? all.filter(({ path }) => form.touched.has(path.split(/[.[]/)[0] ?? "") || path.startsWith("("))
        : all,
    );
  }, [
    check.data,
    check.isPlaceholderData,
    rested,
    text,
    unreadable,
    save.error,
    save.isPending,
    saved,
    attempted,
    form.touched,
  ]);

  const showSummary = () => {
    setTimeout(() => {
      summary.current?.scrollIntoView({ block: "nearest" });
      summary.current?.focus({ preventScroll: true });
    });
  };
  const trySave = async () => {
    if (!mayEdit || save.isPending) return;
    if (!dirty && saved !== undefined) return toast({ title: "There is nothing to save" });
    setAttempted(true);
    if (unreadable.length > 0) return showSummary();
    sent.current = definition;
    save.reset();
    // The check comes first: what is wrong is told without a refused request.
    const checked = await queryClient
      .fetchQuery({
        queryKey: ["agents", "validate", text],
        queryFn: () => client.validateAgent({ body: { definition } }),
        staleTime: 5000,
      })
      .catch(() => undefined);
    if (checked && !checked.ok) return showSummary();
    save.mutate({});
  };
  const discard = () => {
    form.reset();
    setNote("");
    setAttempted(false);
    save.reset();
  };

  // Somebody else saved, and nothing of ours is in the way.
  useEffect(() => {
    if (record === undefined || saved === undefined || record.version <= saved.version || dirty) return;
    setSaved(record);
    form.rebase(baseOf(record));
  }, [record, saved, dirty, form]);
  const overtaken = record !== undefined && saved !== undefined && record.version > saved.version && dirty;

  const blocker = useBlocker({
    shouldBlockFn: ({ current, next }) => dirty && !leaving.current && current.pathname !== next.pathname,
    enableBeforeUnload: () => dirty && !leaving.current,
    withResolver: true,
  });

  const changeTab = (next: "form" | "json") => {
    if (next === "form") form.tidyJson();
    setSearch({ tab: next === "json" ? "json" : undefined });
  };
  const goTo = (path: string) => {
    if (path.startsWith("(") || (tab === "form" && !goToField(path))) changeTab("json");
    else if (tab === "json") {
      changeTab("form");
      setTimeout(() => goToField(path));
    }
  };
  const step = (by: 1 | -1) => {
    const at = SECTIONS.findIndex(({ id }) => document.activeElement?.closest(`#${id}`));
    const next = SECTIONS[Math.min(SECTIONS.length - 1, Math.max(0, at + by))];
    if (next) showSection(next.id);
  };
  useKeys("Agent", [
    { keys: "mod+s", what: "Save the agent", run: () => void trySave(), whileTyping: true, enabled: mayEdit },
    { keys: "j", what: "Next section", run: () => step(1), repeat: true },
    { keys: "k", what: "Previous section", run: () => step(-1), repeat: true },
    { keys: "e", what: "Edit as JSON, or as a form", run: () => changeTab(tab === "json" ? "form" : "json") },
  ]);

  const editor: Editor = {
    draft: form.draft,
    registry,
    issues,
    readOnly,
    autonomous,
    setAutonomous: form.setAutonomous,
    change: form.change,
    set: form.set,
  };
  const reason =
    save.error && !save.isPending && issues.all.length === 0 && theirs === undefined
      ? explain(save.error)
      : undefined;
  return (
    <EditorContext value={editor}>
      {notice}
      {overtaken && (
        <p className="mb-3 flex flex-wrap items-center gap-2 rounded-md border border-amber bg-amber-soft px-3 py-1.5 text-amber">
          <WarningIcon />
          {record.updated_by ?? "Someone"} saved version {record.version} while you edited.
          <Button size="small" onClick={() => setTheirs(record)}>
            Compare
          </Button>
        </p>
      )}
      <ProblemSummary
        ref={summary}
        issues={saved === undefined && !attempted ? [] : issues.all}
        reason={reason}
        onGo={goTo}
      />
      <Tabs
        aria-label="Ways to edit"
        // What controls hide at absolute places stays in here: elsewhere it would make the document scroll.
        className="relative"
        value={tab}
        onChange={changeTab}
        tabs={[
          { value: "form", label: "Form", content: <Form disabled={readOnly} issues={issues} /> },
          {
            value: "json",
            label: "JSON",
            content: (
              <Field
                label="Definition as JSON"
                name="(JSON)"
                hideLabel
                hint="What the API takes and the export gives. Keys that nobody knows are problems."
                problem={form.jsonProblem}
                disabled={readOnly}
              >
                <TextArea
                  mono
                  rows={16}
                  spellCheck={false}
                  value={form.json}
                  onChange={form.setJson}
                  className="[&>*]:max-h-[70vh]"
                />
              </Field>
            ),
          },
        ]}
      />
      {mayEdit && (
        <SaveBar
          note={note}
          setNote={setNote}
          dirty={dirty}
          isNew={saved === undefined}
          problems={issues.all.length}
          pending={save.isPending}
          onDiscard={discard}
          onSave={() => void trySave()}
        />
      )}
      <ConflictDialog
        theirs={theirs}
        mine={definition}
        autonomous={autonomous}
        pending={save.isPending}
        onClose={() => setTheirs(undefined)}
        onSave={({ version }) => {
          sent.current = definition;
          save.mutate({ over: version });
        }}
        onLoad={(now) => {
          const mine = { text: form.json, autonomous };
          setSaved(now);
          form.rebase(baseOf(now));
          setTheirs(undefined);
          save.reset();
          toast({
            title: `Version ${now.version} is loaded`,
            detail: "Your changes are kept until you leave the page.",
            action: {
              label: "Bring mine back",
              run: () => {
                form.setJson(mine.text);
                form.setAutonomous(mine.autonomous);
              },
            },
          });
        }}
      />
      <Confirm
        open={blocker.status === "blocked"}
        onClose={() => blocker.reset?.()}
        title="Leave without saving?"
        description={`Your changes to ${String(definition["name"]) || "the new agent"} are lost.`}
        action="Leave without saving"
        danger
        onConfirm={() => blocker.proceed?.()}
      />
    </EditorContext>
  );
}

function showSection(id: string): void {
  const section = document.getElementById(id);
  section?.scrollIntoView({ block: "start" });
  section?.querySelector<HTMLElement>("h2")?.focus({ preventScroll: true });
}

function Form({ disabled, issues }: { disabled: boolean; issues: Issues }) {
  return (
    <div className="flex gap-8">
      <nav aria-label="Sections" className="sticky top-4 hidden w-44 shrink-0 self-start lg:block">
        <ul className="flex flex-col">
          {SECTIONS.map(({ id, title, fields }) => {
            const count = issues.ofFields(fields).length;
            return (
              <li key={id}>
                <button
                  type="button"
                  onClick={() => showSection(id)}
                  className="flex h-8 w-full items-center justify-between gap-2 rounded-md px-2 text-left text-muted hover:bg-sunken hover:text-ink"
                >
                  {title}
                  {count > 0 && (
                    <span className="text-xs font-medium text-red" title={plural(count, "problem")}>
                      {count}
                      <span className="sr-only"> {count === 1 ? "problem" : "problems"}</span>
                    </span>
                  )}
                </button>
              </li>
            );
          })}
        </ul>
      </nav>
      {/* No native fieldset: it would also shut what only shows, such as the cards and what scrolls in them. */}
      <Fieldset.Root disabled={disabled} render={<div />} className="flex min-w-0 max-w-200 flex-1 flex-col">
        {SECTIONS.map(({ id, title, body: Body }, at) => (
          <section
            key={id}
            id={id}
            aria-labelledby={`${id}-title`}
            className={cx(
              "flex min-w-0 scroll-mt-4 flex-col gap-4 py-5",
              at > 0 && "border-t border-line",
              at === 0 && "pt-1",
            )}
          >
            <h2 id={`${id}-title`} tabIndex={-1} className="w-fit text-lg font-semibold">
              {title}
            </h2>
            <Body />
          </section>
        ))}
      </Fieldset.Root>
    </div>
  );
}

function SaveBar(props: {
  note: string;
  setNote(note: string): void;
  dirty: boolean;
  isNew: boolean;
  problems: number;
  pending: boolean;
  onDiscard(): void;
  onSave(): void;
}) {
  const { note, setNote, dirty, isNew, problems, pending, onDiscard, onSave } = props;
  return (
    <div className="sticky bottom-0 z-20 -mx-4 mt-4 flex flex-wrap items-center gap-2 border-t border-line bg-canvas px-4 py-2 md:-mx-6 md:px-6">
      <p
        aria-live="polite"
        className={cx("mr-auto text-sm", problems > 0 && dirty ? "text-red" : "text-muted")}
      >
        {problems > 0 && dirty
          ? plural(problems, "problem")
          : dirty
            ? isNew
              ? "Not saved yet"
              : "Unsaved changes"
            : isNew
              ? "Fill in a name and a model"
              : "Everything is saved"}
      </p>
      <TextField
        aria-label="Note for the version"
        placeholder="Note: what changed and why"
        value={note}
        onChange={setNote}
        maxLength={500}
        className={cx(
          "order-first w-full! basis-full sm:order-none sm:w-72! sm:basis-auto",
          !dirty && "max-sm:hidden",
        )}
      />
      {dirty && (
        <Button kind="quiet" onClick={onDiscard}>
          Discard
        </Button>
      )}
      <Button kind="primary" pending={pending} onClick={onSave}>
        {isNew ? "Create agent" : "Save agent"}
        <span className="ml-2 hidden md:inline [&_kbd]:border-transparent [&_kbd]:bg-transparent [&_kbd]:text-on-accent">
          <KeyHint keys="mod+s" />
        </span>
      </Button>
    </div>
  );
}
