import type { Failure } from "../schema/failure.ts";
import type { LanguageModel } from "./bound-agent.ts";
import { adaptModel, type Model } from "./providers/adapt.ts";
import type { ProviderSettings } from "./providers/registry.ts";

type Loaded = { readonly model: Model } | { readonly failure: Failure };

/** The models of an engine: a string is resolved once, an object is taken as it is. */
export class Models {
  readonly #settings: Readonly<Record<string, ProviderSettings>>;
  readonly #given: Readonly<Record<string, LanguageModel>>;
  readonly #byRef = new Map<
    string,
    { readonly with: ProviderSettings | undefined; readonly loaded: Promise<Loaded> }
  >();
  readonly #byObject = new WeakMap<LanguageModel, Model>();

  constructor(
    settings: Readonly<Record<string, ProviderSettings>>,
    given: Readonly<Record<string, LanguageModel>> = {},
  ) {
    this.#settings = settings;
    this.#given = given;
  }

  get(choice: string | LanguageModel): Model | Promise<Loaded> {
    if (typeof choice !== "string") return this.#adapted(choice);
    const given = Object.hasOwn(this.#given, choice) ? this.#given[choice] : undefined;
    if (given !== undefined) return this.#adapted(given);
    // A host may be given another key or address while it runs: it then puts other settings in their place.
    const settings = this.#settings[choice.slice(0, Math.max(choice.indexOf(":"), 0))];
    const known = this.#byRef.get(choice);
    if (known !== undefined && known.with === settings) return known.loaded;
    const loaded = this.#load(choice);
    this.#byRef.set(choice, { with: settings, loaded });
    return loaded;
  }

  #adapted(object: LanguageModel): Model {
    if (object.specificationVersion === "v4") return object;
    let model = this.#byObject.get(object);
    if (model === undefined) {
      model = adaptModel(object);
      this.#byObject.set(object, model);
    }
    return model;
  }

  async #load(ref: string): Promise<Loaded> {
    try {
      // Loaded here, not at the top: an agent whose model is an object never pays for the registry.
      const { loadModel } = await import("./providers/registry.ts");
      const found = await loadModel(ref, this.#settings);
      if (found.ok) return { model: found.model };
      this.#byRef.delete(ref); // the next run may find the package installed or the key set
      return {
        failure: {
          code: "model_unavailable",
          message: found.failure.message,
          details: { reason: found.failure.code },
        },
      };
    } catch (error) {
      this.#byRef.delete(ref);
      const message = `The provider of "${ref}" could not be loaded: ${error instanceof Error ? error.message : String(error)}`;
      return { failure: { code: "model_unavailable", message, details: { reason: "provider_broken" } } };
    }
  }
}
