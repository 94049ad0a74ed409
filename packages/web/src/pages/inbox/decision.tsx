import { type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { Json, JsonObject } from "trackside/schema";
import { type Draft, draftOf, formOf } from "../../forms/schema-form.ts";
import { useKeys } from "../../keys/use-keys.ts";
import { useMay } from "../../session.ts";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { DiffView } from "../../ui/diff-view.tsx";
import { EditIcon } from "../../ui/icons.tsx";
import { KeyHint } from "../../ui/key-hint.tsx";
import { SchemaForm } from "../../ui/schema-form.tsx";
import { type Action, actionsOf, canEdit, canRemember, responseName } from "./actions.ts";
import { type Approval, type Detail, isOpen, subjectOf } from "./approval.ts";
import { type Decision as Body, readDraft, useDecide } from "./decide.ts";
import { DecisionBar } from "./decision-bar.tsx";
import { Section } from "./evidence.tsx";
import { RememberField, type Remembering, rememberedWords } from "./remember.tsx";
import { Values } from "./values.tsx";

/** A schema that says nothing: any JSON. */
const ANYTHING: JsonObject = {};

/** What is decided on is called, where it is no call. */
const ARGUMENTS: Partial<Record<Detail["kind"], string>> = {
  tool_definition: "The definition now",
  workflow_node: "What it shows",
};

/** A node that shows nothing with its question. */
const isNothing = ({ kind, arguments: args }: Detail) =>
  kind === "workflow_node" && Object.keys(args ?? {}).length === 0;

export interface DecisionProps {
  detail: Detail;
  next: Approval | undefined;
  header: ReactNode;
  why: ReactNode;
  happens: ReactNode;
  /** Below what is decided on: what led here, others of the run. */
  evidence: ReactNode;
}

/** Everything of one decision: arguments and their edit, a result to give, what to remember, and the buttons. */
export function Decision({ detail, next, header, why, happens, evidence }: DecisionProps) {
  const may = useMay("decide");
  const open = isOpen(detail);
  const deciding = open && may;
  const actions = actionsOf(detail);
  const decide = useDecide(detail);
  const scroller = useRef<HTMLDivElement>(null);

  const [edit, setEdit] = useState<Draft>();
  const [response, setResponse] = useState<Draft>();
  const [remembering, setRemembering] = useState<Remembering>();
  const [refusing, setRefusing] = useState<Action>();
  const [confirming, setConfirming] = useState<{ action: Action; body: Body }>();
  const [told, setTold] = useState(false);

  const inputSchema = detail.input_schema ?? ANYTHING;
  const inputForm = useMemo(() => formOf(inputSchema), [inputSchema]);
  const edited = edit && readDraft(inputSchema, inputForm, edit);
  const changed =
    edited !== undefined && JSON.stringify(edited.value) !== JSON.stringify(detail.arguments ?? {});

  const responseSchema = detail.response_schema ?? ANYTHING;
  const responseForm = useMemo(() => formOf(responseSchema), [responseSchema]);
  const needing = actions.find(({ needsResponse }) => needsResponse);
  const answer = response ?? draftOf(responseForm);
  const answered = readDraft(responseSchema, responseForm, answer);

  /** What is wrong is told when somebody tries, and from then on while they correct it. */
  const tell = () => {
    setTold(true);
    requestAnimationFrame(() =>
      scroller.current?.querySelector("[aria-invalid=true]")?.scrollIntoView({ block: "center" }),
    );
  };
  const send = (body: Body) => decide.mutate(body, { onSettled: () => setRefusing(undefined) });
  const choose = (action: Action, reason?: string) => {
    if (decide.isPending) return;
    const needsEdit = action.choice === "approve" && edited !== undefined;
    if (needsEdit && edited.problems.length > 0) return tell();
    if (action.needsResponse && answered.problems.length > 0) return tell();
    const { lasts: _, ...remember } = remembering ?? { lasts: "0" };
    const body: Body = {
      choice: action.choice,
      ...(reason && { reason }),
      ...(action.needsResponse && answered.value !== undefined && { response: answered.value }),
      // The form of an object gives an object; the server checks it again.
      ...(needsEdit && changed && { edited_arguments: edited.value as JsonObject }),
      ...(remembering && !(needsEdit && changed) && { remember: remember as Body["remember"] }),
    };
    if (action.confirms) setConfirming({ action, body });
    else send(body);
  };
  const press = (action: Action) => (action.asksReason ? setRefusing(action) : choose(action));

  const editable = canEdit(detail);
  const startEdit = () => {
    setRefusing(undefined);
    setEdit(draftOf(inputForm, detail.arguments ?? {}));
  };
  const editing = edit !== undefined;
  const responding = needing !== undefined;
  const focusForm = useCallback(
    () =>
      scroller.current
        ?.querySelector<HTMLElement>("[data-edited] :is(input, textarea, [role=combobox], [role=switch])")
        ?.focus(),
    [],
  );
  useEffect(() => {
    if (editing) focusForm();
  }, [editing, focusForm]);

  const yes = actions.find(({ key }) => key === "a");
  const no = actions.find(({ key }) => key === "d");
  useKeys("This approval", [
    ...(yes ? [{ keys: "a", what: yes.label, run: () => press(yes), enabled: deciding }] : []),
    ...(no
      ? [{ keys: "d", what: `${no.label}, with a reason`, run: () => press(no), enabled: deciding }]
      : []),
    ...(editable
      ? [{ keys: "e", what: "Edit the arguments", run: startEdit, enabled: deciding && !editing }]
      : responding
        ? [
            {
              keys: "e",
              what: `Write the ${responseName(detail).toLowerCase()}`,
              run: focusForm,
              enabled: deciding,
            },
          ]
        : []),
    {
      keys: "escape",
      what: "Leave the reason or the edit",
      whileTyping: true,
      enabled: deciding && (refusing !== undefined || editing),
      run: () => (refusing ? setRefusing(undefined) : setEdit(undefined)),
    },
  ]);

  // Somebody else was faster: what was begun here has no use any more.
  useEffect(() => {
    if (open) return;
    setRefusing(undefined);
    setConfirming(undefined);
    setEdit(undefined);
  }, [open]);

  const rule =
    remembering && !(editing && changed)
      ? rememberedWords(refusing ? "reject" : "approve", detail, remembering)
      : undefined;
  const subject = subjectOf(detail);
  const finalEdit = detail.decision?.edited_arguments;
  return (
    <>
      <div ref={scroller} className="min-h-0 flex-1 overflow-y-auto">
        <div className="flex flex-col gap-4 px-4 py-3 lg:px-5">
          {header}
          {why}
          {detail.arguments !== null && !isNothing(detail) && (
            <Section
              title={ARGUMENTS[detail.kind] ?? "Arguments"}
              aside={
                deciding &&
                editable &&
                (editing ? (
                  <Button size="small" kind="quiet" onClick={() => setEdit(undefined)}>
                    Discard the edit
                  </Button>
                ) : (
                  <Button size="small" kind="quiet" icon={EditIcon} onClick={startEdit}>
                    Edit
                    <span className="ml-2 coarse:hidden">
                      <KeyHint keys="e" />
                    </span>
                  </Button>
                ))
              }
            >
              {editing && edited ? (
                <div data-edited="" className="grid items-start gap-4 xl:grid-cols-[1fr_minmax(16rem,20rem)]">
                  <SchemaForm
                    label="Arguments"
                    schema={inputSchema}
                    draft={edit}
                    onChange={setEdit}
                    problems={told || edited.value === undefined ? edited.problems : []}
                    disabled={decide.isPending}
                  />
                  {edited.value !== undefined && (
                    <DiffView
                      before={detail.arguments}
                      after={edited.value}
                      label={`Changes to the arguments of ${subject}`}
                    />
                  )}
                </div>
              ) : finalEdit ? (
                <DiffView
                  before={detail.arguments}
                  after={finalEdit}
                  label={`Changes to the arguments of ${subject}`}
                  context={1000}
                />
              ) : (
                <Values value={detail.arguments} label={`Arguments of ${subject}`} />
              )}
            </Section>
          )}
          {Object.keys(detail.injected_args).length > 0 && (
            <Section title="Injected arguments: for the record, never given to the tool">
              <Values value={detail.injected_args} label="Injected arguments" />
            </Section>
          )}
          {responding && deciding && (
            <Section
              title={detail.kind === "unknown_outcome" ? "If it ran: its result" : responseName(detail)}
            >
              <div data-edited="">
                <SchemaForm
                  label={responseName(detail)}
                  schema={responseSchema}
                  draft={answer}
                  onChange={setResponse}
                  problems={told ? answered.problems : []}
                  disabled={decide.isPending}
                />
              </div>
            </Section>
          )}
          {detail.decision?.response !== undefined && (
            <Section title={responseName(detail)}>
              <Values value={detail.decision.response} label={responseName(detail)} />
            </Section>
          )}
          {happens}
          {deciding && canRemember(detail) && (
            <RememberField
              detail={detail}
              value={remembering}
              onChange={setRemembering}
              edited={editing && changed}
            />
          )}
          {evidence}
        </div>
      </div>
      <DecisionBar
        detail={detail}
        next={next}
        may={may}
        actions={actions}
        withChanges={editing && changed}
        rule={rule}
        refusing={refusing}
        onRefuse={setRefusing}
        onPress={press}
        onChoose={choose}
        decide={decide}
      />
      {confirming && (
        <Confirm
          open
          danger
          onClose={() => setConfirming(undefined)}
          title={`${confirming.action.label}?`}
          description={
            <>
              {detail.kind !== "workflow_node" && detail.consequences[confirming.action.choice]}
              {detail.irreversible && " It cannot be taken back."}
              {confirming.body.remember !== undefined && rule && ` It is remembered: ${rule}`}
            </>
          }
          action={confirming.action.label}
          onConfirm={async () => {
            // What went wrong is told beside the buttons, where it can be sent again.
            await decide.mutateAsync(confirming.body).catch(() => {});
          }}
        >
          {!isNothing(detail) && (
            <Values
              // We wrote it ourselves, above: JSON.
              value={(confirming.body.edited_arguments as JsonObject | undefined) ?? detail.arguments}
              label={`Arguments of ${subject}`}
            />
          )}
          {detail.kind === "workflow_node" && confirming.body.response !== undefined && (
            <div className="mt-2">
              <Values value={confirming.body.response as Json} label="Answer" />
            </div>
          )}
        </Confirm>
      )}
    </>
  );
}
