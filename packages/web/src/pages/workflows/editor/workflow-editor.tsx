import { Fieldset } from "@base-ui/react/fieldset";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useBlocker, useNavigate } from "@tanstack/react-router";
import { ReactFlowProvider } from "@xyflow/react";
import { type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { flushSync } from "react-dom";
import type { JsonObject } from "trackside/schema";
import { ApiProblem, client, explain } from "../../../api.ts";
import { plural } from "../../../format/number.ts";
import { useKeys } from "../../../keys/use-keys.ts";
import { one } from "../../../search.ts";
import { Button, IconButton } from "../../../ui/button.tsx";
import { Confirm } from "../../../ui/confirm.tsx";
import { PlusIcon, WarningIcon } from "../../../ui/icons.tsx";
import { toast } from "../../../ui/toast.tsx";
import { Issues } from "../../agents/draft/issues.ts";
import { goToField } from "../../agents/editor/go-to-field.ts";
import { Canvas, NOTHING, type Selection } from "../canvas/canvas.tsx";
import { freePlace, GAP, GRID, HEIGHT, WIDTH } from "../canvas/geometry.ts";
import { FitIcon, RedoIcon, UndoIcon } from "../canvas/kind-icons.tsx";
import { afterWords, freePort, named } from "../draft/adding.ts";
import {
  type Definition,
  edgeFrom,
  edgeId,
  edgesOf,
  type Kind,
  type Port,
  type Position,
  titleOf,
} from "../draft/definition.ts";
import { idsFor, type Piece, pieceOf } from "../draft/edit.ts";
import { Graph } from "../draft/graph.ts";
import { laidOut, placesOf } from "../draft/layout.ts";
import { freeId, newNode } from "../draft/new-node.ts";
import { type Direction, neighbour } from "../draft/walking.ts";
import { EdgePanel, ManyPanel } from "../panel/edge-panel.tsx";
import { NodePanel } from "../panel/node-panel.tsx";
import { SettingsPanel } from "../panel/settings-panel.tsx";
import { AddPicker } from "./add-picker.tsx";
import type { Catalog } from "./catalog.ts";
import { useCheck } from "./check.ts";
import { useClipboard } from "./clipboard.ts";
import { ConflictDialog, type WorkflowRecord } from "./conflict-dialog.tsx";
import { ConnectPicker } from "./connect-picker.tsx";
import { type WorkflowEditor as Editor, WorkflowEditorContext } from "./context.ts";
import { EmptyCanvas } from "./empty-canvas.tsx";
import { useFlow } from "./flow-control.ts";
import { PanelHead } from "./panel-head.tsx";
import { ProblemList } from "./problem-list.tsx";
import { SaveBar } from "./save-bar.tsx";
import { nodeOf, problemsByNode, useHistory } from "./use-history.ts";

export interface WorkflowEditorProps {
  /** Undefined for a workflow that is being made. */
  readonly record?: WorkflowRecord;
  readonly start: Definition;
  readonly catalog: Catalog;
  readonly readOnly: boolean;
  /** Above the canvas: why it is read-only. */
  readonly notice?: ReactNode;
  /** Beside the title; `save` first where a run needs what stands there. */
  actions(state: {
    readonly dirty: boolean;
    save(): Promise<boolean>;
    readonly definition: Definition;
  }): ReactNode;
}

/** Draws a workflow, node by node. The definition is the reducer's; the canvas and the panel only show it. */
export function WorkflowEditor(props: WorkflowEditorProps) {
  return (
    <ReactFlowProvider>
      <Editing {...props} />
    </ReactFlowProvider>
  );
}

/** What the picker for new nodes is asked for: a place, and what it comes after. */
interface Adding {
  readonly from?: { readonly id: string; readonly port: Port };
  readonly at?: Position;
}

function Editing({ record, start, catalog, readOnly, notice, actions }: WorkflowEditorProps) {
  const form = useHistory(start);
  const { definition, unread } = form.draft;
  const { edit, dirty } = form;
  const [saved, setSaved] = useState(record);
  const [note, setNote] = useState("");
  const [attempted, setAttempted] = useState(false);
  const [theirs, setTheirs] = useState<WorkflowRecord>();
  const [selection, setSelection] = useState<Selection>(NOTHING);
  const [adding, setAdding] = useState<Adding>();
  const [connecting, setConnecting] = useState<{ from: string; port?: Port }>();
  const summary = useRef<HTMLElement>(null);
  const panel = useRef<HTMLElement>(null);
  const leaving = useRef(false);
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const flow = useFlow();
  const mayEdit = !readOnly;

  const { checked, checkNow } = useCheck(definition, catalog);
  const graph = useMemo(() => new Graph(definition), [definition]);
  const places = useMemo(() => placesOf(definition), [definition]);
  // What is gone is not selected, whatever the canvas last said.
  const nodes = selection.nodes.filter((id) => Object.hasOwn(definition.nodes, id));
  const edges = edgesOf(definition).filter((edge) => selection.edges.includes(edgeId(edge)));
  const only = nodes.length === 1 && edges.length === 0 ? nodes[0] : undefined;

  const save = useMutation({
    mutationFn: ({ over }: { over?: number }) => {
      const body = { definition: { ...definition }, ...(note.trim() && { note: note.trim() }) };
      return saved === undefined
        ? client.createWorkflow({ body })
        : client.saveWorkflow({
            params: { name: saved.name },
            body: { ...body, version: over ?? saved.version },
          });
    },
    onSuccess: (done) => {
      flushSync(() => {
        // Whoever went on while it was saved keeps what they did; undo still leads behind the save.
        if (sent.current) form.settle(sent.current);
        setSaved(done);
        setNote("");
        setAttempted(false);
        setTheirs(undefined);
      });
      toast({ title: `Workflow ${done.name} is saved`, detail: `Version ${done.version}` });
      const figures = { last_run: null, runs: 0, failures: 0, pending_approvals: 0, ...record };
      queryClient.setQueryData(["workflows", "one", done.name], { ...figures, ...done });
      for (const part of ["one", "list", "versions", "catalog"])
        void queryClient.invalidateQueries({ queryKey: ["workflows", part] });
      if (done.name === saved?.name) return;
      leaving.current = true;
      void navigate({ to: "/workflows/$name", params: { name: done.name }, replace: true }).then(() => {
        leaving.current = false;
      });
    },
    onError: async (error) => {
      if (error instanceof ApiProblem && error.code === "version_conflict" && saved) {
        const now = await queryClient
          .fetchQuery({
            queryKey: ["workflows", "one", saved.name],
            queryFn: () => client.getWorkflow({ params: { name: saved.name } }),
            staleTime: 0,
          })
          .catch(() => undefined);
        if (now) return setTheirs(now);
      }
      showSummary();
    },
  });
  const sent = useRef<Definition>(undefined);

  const issues = useMemo(() => {
    const refused = save.error instanceof ApiProblem && !save.isPending ? save.error.issues : [];
    // What the server refused counts until something is changed.
    const found = sent.current === definition && refused.length > 0 ? refused : checked.issues;
    const unreadPlaces = new Set(form.unreadable.map(({ path }) => path));
    const all = [...form.unreadable, ...found.filter(({ path }) => !unreadPlaces.has(path))];
    return new Issues(all);
  }, [checked, save.error, save.isPending, definition, form.unreadable]);
  // A new node lacks everything: it says so itself, and the list waits until somebody wants to save.
  const quiet = saved === undefined && !attempted;
  const problems = useMemo(() => problemsByNode(issues.all), [issues]);
  const scene = useMemo(
    () => ({ definition, places, problems, runs: undefined }),
    [definition, places, problems],
  );

  const showSummary = () => {
    setTimeout(() => summary.current?.focus());
  };
  const trySave = async (): Promise<boolean> => {
    if (!mayEdit || save.isPending) return false;
    if (!dirty && saved !== undefined) {
      toast({ title: "There is nothing to save" });
      return true;
    }
    setAttempted(true);
    sent.current = definition;
    save.reset();
    // The check comes first: what is wrong is told without a refused request.
    const now = await checkNow();
    if (form.unreadable.length > 0 || now.issues.length > 0) {
      showSummary();
      return false;
    }
    return save.mutateAsync({}).then(
      () => true,
      () => false,
    );
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
    form.rebase(record.definition as Definition); // checked when it was saved
  }, [record, saved, dirty, form]);
  const overtaken = record !== undefined && saved !== undefined && record.version > saved.version && dirty;

  const blocker = useBlocker({
    shouldBlockFn: ({ current, next }) =>
      dirty &&
      !leaving.current &&
      (current.pathname !== next.pathname || one(current.search, "run") !== one(next.search, "run")),
    enableBeforeUnload: () => dirty && !leaving.current,
    withResolver: true,
  });

  // What is to be selected may have to be drawn first, so it waits for the canvas to have the same definition.
  const [wanted, setWanted] = useState<{ selection: Selection; show: boolean }>();
  useEffect(() => {
    if (wanted === undefined) return;
    flow.select(wanted.selection, wanted.show);
    setWanted(undefined);
  }, [wanted, flow]);
  const select = (ids: readonly string[], show = true) =>
    setWanted({ selection: { nodes: ids, edges: [] }, show });
  const selectEdge = (id: string) => setWanted({ selection: { nodes: [], edges: [id] }, show: false });
  const add = (kind: Kind, name?: string) => {
    const { from, at } = adding ?? {};
    setAdding(undefined);
    const id = freeId(definition.nodes, name ?? kind);
    const before = from === undefined ? undefined : places[from.id];
    const wanted = at ?? (before ? { x: before.x + WIDTH + GAP.x, y: before.y } : flow.middle());
    const node = named(newNode(kind, freePlace(Object.values(places), wanted)), name);
    edit({ type: "add", id, node, ...(from && { edge: edgeFrom(from.id, from.port, id) }) });
    select([id]);
    openPanel();
  };
  const askToAdd = () => {
    const source = only === undefined ? undefined : definition.nodes[only];
    if (only === undefined || source === undefined) return setAdding({});
    const port = freePort(definition, only, source);
    setAdding(port === undefined ? {} : { from: { id: only, port } });
  };
  const connect = useCallback(
    (from: string, port: Port, to: string) => edit({ type: "connect", edge: edgeFrom(from, port, to) }),
    [edit],
  );
  const remove = () => {
    if (nodes.length === 0 && edges.length === 0) return;
    const next = only && (graph.before(only)[0] ?? graph.after(only)[0]);
    edit({ type: "remove", nodes, edges: edges.map(edgeId) });
    select(next === undefined ? [] : [next], false);
  };
  const paste = (piece: Piece, by: Position = { x: 4 * GRID, y: HEIGHT + 2 * GRID }) => {
    const ids = idsFor(definition, piece);
    edit({ type: "paste", piece, ids, by });
    select(Object.values(ids));
  };
  const duplicate = (ids: readonly string[]) => ids.length > 0 && paste(pieceOf(definition, ids));
  useClipboard({
    copy: () => (nodes.length === 0 ? undefined : pieceOf(definition, nodes)),
    cut: () => mayEdit && remove(),
    paste: (piece) => mayEdit && paste(piece),
  });
  const arrange = () => {
    edit({ type: "move", to: laidOut(definition) });
    flow.fit();
  };
  /** Keys of the canvas rest while the focus is among the fields. */
  const onCanvas = (run: () => void) => () => {
    if (!panel.current?.contains(document.activeElement)) run();
  };
  const walk = (direction: Direction) =>
    onCanvas(() => {
      const next = neighbour(definition, places, nodes.at(-1), direction);
      if (next !== undefined) select([next]);
    });
  const push = (x: number, y: number) =>
    onCanvas(() => {
      const moved = nodes.map((id) => {
        const at = places[id] ?? { x: 0, y: 0 };
        return [id, { x: at.x + x * GRID, y: at.y + y * GRID }] as const;
      });
      if (moved.length > 0) edit({ type: "move", to: Object.fromEntries(moved) });
    });
  const openPanel = () => {
    setTimeout(() =>
      panel.current
        ?.querySelector<HTMLElement>(
          "[data-fields] :is(input, textarea, [role=combobox]):not([aria-hidden=true])",
        )
        ?.focus(),
    );
  };
  const startConnecting = (from: string | undefined = only) => {
    if (from !== undefined) setConnecting({ from });
    else toast({ title: "Select a node first", detail: "C connects the selected node with another one." });
  };
  useKeys("Canvas", [
    {
      keys: "mod+s",
      what: "Save the workflow",
      run: () => void trySave(),
      whileTyping: true,
      enabled: mayEdit,
    },
    { keys: "a", what: "Add a node, after the selected one", run: askToAdd, enabled: mayEdit },
    { keys: "c", what: "Connect the selected node", run: () => startConnecting(), enabled: mayEdit },
    { keys: "enter", what: "Go to the fields of the node", run: onCanvas(openPanel) },
    { keys: "arrowright", what: "Follow an edge", run: walk("right"), repeat: true },
    { keys: "arrowleft", what: "Follow an edge back", run: walk("left"), repeat: true },
    { keys: "arrowdown", what: "Node below", run: walk("down"), repeat: true },
    { keys: "arrowup", what: "Node above", run: walk("up"), repeat: true },
    {
      keys: "shift+arrowright",
      what: "Move the selected nodes",
      run: push(2, 0),
      repeat: true,
      enabled: mayEdit,
    },
    { keys: "shift+arrowleft", what: "Move them left", run: push(-2, 0), repeat: true, enabled: mayEdit },
    { keys: "shift+arrowdown", what: "Move them down", run: push(0, 2), repeat: true, enabled: mayEdit },
    { keys: "shift+arrowup", what: "Move them up", run: push(0, -2), repeat: true, enabled: mayEdit },
    { keys: "mod+a", what: "Select every node", run: () => select(Object.keys(definition.nodes), false) },
    { keys: "mod+d", what: "Duplicate what is selected", run: () => duplicate(nodes), enabled: mayEdit },
    { keys: "delete", what: "Remove what is selected", run: onCanvas(remove), enabled: mayEdit },
    { keys: "backspace", what: "Remove what is selected", run: onCanvas(remove), enabled: mayEdit },
    { keys: "mod+z", what: "Undo", run: form.undo, repeat: true, whileTyping: true, enabled: mayEdit },
    { keys: "mod+shift+z", what: "Redo", run: form.redo, repeat: true, whileTyping: true, enabled: mayEdit },
    { keys: "l", what: "Put all nodes in order", run: arrange, enabled: mayEdit },
    { keys: "f", what: "Show all of it", run: () => flow.fit() },
    { keys: "+", what: "Look closer", run: () => flow.zoom(1.25), repeat: true },
    { keys: "-", what: "Look from further away", run: () => flow.zoom(0.8), repeat: true },
    {
      keys: "escape",
      what: "Back to the canvas, then select nothing",
      whileTyping: true,
      run: () => {
        if (panel.current?.contains(document.activeElement)) flow.focus(only);
        else select([], false);
      },
    },
  ]);

  const goTo = (path: string) => {
    const id = nodeOf(path);
    const edge = /^edges\[(\d+)\]/.exec(path);
    const place = edge ? edgesOf(definition)[Number(edge[1])] : undefined;
    if (place) selectEdge(edgeId(place));
    else select(id === undefined ? [] : [id]);
    setTimeout(() => goToField(path), 50);
  };

  const editor = useMemo<Editor>(
    () => ({ definition, unread, catalog, graph, issues, outputs: checked.outputs, readOnly, edit }),
    [definition, unread, catalog, graph, issues, checked.outputs, readOnly, edit],
  );
  const reason =
    save.error && !save.isPending && issues.all.length === 0 && theirs === undefined
      ? explain(save.error)
      : undefined;
  const node = only === undefined ? undefined : definition.nodes[only];
  const [edge] = edges;
  return (
    <WorkflowEditorContext value={editor}>
      <div className="flex flex-wrap items-center gap-1 border-b border-line px-4 py-1.5 md:px-6">
        {mayEdit && (
          <>
            <Button size="small" icon={PlusIcon} onClick={askToAdd}>
              Add node
            </Button>
            <IconButton icon={UndoIcon} label="Undo" disabled={!form.mayUndo} onClick={form.undo} />
            <IconButton icon={RedoIcon} label="Redo" disabled={!form.mayRedo} onClick={form.redo} />
            <Button size="small" kind="quiet" onClick={arrange}>
              Arrange
            </Button>
          </>
        )}
        <IconButton icon={FitIcon} label="Show all of it" onClick={() => flow.fit()} />
        <span className="text-xs text-muted max-lg:hidden">
          {plural(Object.keys(definition.nodes).length, "node")}
        </span>
        <div className="ml-auto flex items-center gap-2">{actions({ dirty, save: trySave, definition })}</div>
      </div>
      {notice}
      {overtaken && (
        <p className="flex flex-wrap items-center gap-2 border-b border-amber bg-amber-soft px-4 py-1.5 text-amber md:px-6">
          <WarningIcon />
          {record.updated_by ?? "Someone"} saved version {record.version} while you edited.
          <Button size="small" onClick={() => setTheirs(record)}>
            Compare
          </Button>
        </p>
      )}
      <div className="flex min-h-0 flex-1">
        <div className="flex min-w-0 flex-1 flex-col">
          <div ref={flow.frame} className="relative min-h-0 flex-1">
            <Canvas
              scene={scene}
              label={`Canvas of ${definition.name || "the new workflow"}`}
              readOnly={readOnly}
              onSelect={setSelection}
              onMove={(to) => edit({ type: "move", to })}
              onConnect={connect}
              onConnectToNew={(id, port, at) =>
                setAdding({ from: { id, port }, at: { x: at.x, y: at.y - 36 } })
              }
              onOpen={openPanel}
            />
            {Object.keys(definition.nodes).length === 0 && (
              <EmptyCanvas onAdd={mayEdit ? askToAdd : undefined} />
            )}
          </div>
          <ProblemList
            ref={summary}
            issues={quiet || (!dirty && !attempted) ? [] : issues.all}
            reason={reason}
            onGo={goTo}
          />
        </div>
        <aside
          ref={panel}
          aria-label={node ? `Node ${titleOf(only ?? "", node)}` : edge ? "Edge" : "Workflow settings"}
          className="flex w-96 shrink-0 flex-col border-l border-line bg-canvas"
        >
          <PanelHead
            node={node}
            id={only}
            edges={edges.length}
            count={nodes.length}
            onClose={() => select([], false)}
          />
          <Fieldset.Root
            disabled={readOnly}
            render={<div data-fields="" />}
            className="min-h-0 flex-1 overflow-y-auto px-4 py-3"
          >
            {node && only ? (
              <NodePanel
                key={only}
                id={only}
                node={node}
                onRename={(to) => {
                  edit({ type: "rename", from: only, to });
                  select([to], false);
                }}
                onRemove={remove}
                onDuplicate={() => duplicate([only])}
                onConnect={() => startConnecting(only)}
              />
            ) : nodes.length > 1 ? (
              <ManyPanel
                count={nodes.length}
                onDuplicate={() => duplicate(nodes)}
                onRemove={remove}
                readOnly={readOnly}
              />
            ) : edge ? (
              <EdgePanel
                edge={edge}
                onPort={(port) => {
                  const next = edgeFrom(edge.from, port, edge.to);
                  const all = edgesOf(definition).map((other) => (other === edge ? next : other));
                  edit({ type: "set", path: ["edges"], value: all.map((one) => ({ ...one }) as JsonObject) }); // of texts only
                  selectEdge(edgeId(next));
                }}
                onRemove={remove}
              />
            ) : (
              <SettingsPanel readOnly={readOnly} />
            )}
          </Fieldset.Root>
          {mayEdit && (
            <SaveBar
              note={note}
              setNote={setNote}
              dirty={dirty}
              isNew={saved === undefined}
              problems={quiet ? 0 : issues.all.length}
              pending={save.isPending}
              onDiscard={discard}
              onSave={() => void trySave()}
            />
          )}
        </aside>
      </div>
      <AddPicker
        open={adding !== undefined}
        catalog={catalog}
        {...(adding?.from && { after: afterWords(definition, adding.from.id, adding.from.port) })}
        onPick={add}
        onClose={() => {
          setAdding(undefined);
          setTimeout(() => flow.focus(only));
        }}
      />
      <ConnectPicker
        from={connecting?.from}
        definition={definition}
        graph={graph}
        onClose={() => {
          setConnecting(undefined);
          setTimeout(() => flow.focus(only));
        }}
        onConnect={(from, port, to) => {
          setConnecting(undefined);
          connect(from, port, to);
          setTimeout(() => flow.focus(from));
        }}
      />
      <ConflictDialog
        theirs={theirs}
        mine={definition}
        pending={save.isPending}
        onClose={() => setTheirs(undefined)}
        onSave={({ version }) => {
          sent.current = definition;
          save.mutate({ over: version });
        }}
        onLoad={(now) => {
          setSaved(now);
          form.rebase(now.definition as Definition); // checked when it was saved
          setTheirs(undefined);
          save.reset();
          toast({
            title: `Version ${now.version} is loaded`,
            detail: "Yours is one undo away.",
            action: { label: "Bring mine back", run: form.undo },
          });
        }}
      />
      <Confirm
        open={blocker.status === "blocked"}
        onClose={() => blocker.reset?.()}
        title="Leave without saving?"
        description={`Your changes to ${definition.name || "the new workflow"} are lost.`}
        action="Leave without saving"
        danger
        onConfirm={() => blocker.proceed?.()}
      />
    </WorkflowEditorContext>
  );
}
