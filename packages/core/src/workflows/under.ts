import type { World } from "../turn/world.ts";

/** The same world, with every key below one of its own: what is done there is stopped by stopping that. */
export function under(world: World, at: string): World {
  const below = (key: string) => `${at}/${key}`;
  return {
    dispatch: (key, input) => world.dispatch(below(key), input),
    model: (key, input) => world.model(below(key), input),
    hooks: (key, input) => world.hooks(below(key), input),
    tool: (key, input) => world.tool(below(key), input),
    ask: (key, input) => world.ask(below(key), input),
    compact: (key, input) => world.compact(below(key), input),
    equip: (key, input) => world.equip(below(key), input),
    child: (key, input) => world.child(below(key), input),
    node: (key, input) => world.node(below(key), input),
    sleep: (key, ms) => world.sleep(below(key), ms),
    boundary: (state) => world.boundary(state),
    end: (state) => world.end(state),
    cancel: (prefix, reason) => world.cancel(below(prefix), reason),
    note: (note) => world.note(note),
  };
}
