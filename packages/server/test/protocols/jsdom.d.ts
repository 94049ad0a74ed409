/** As much of jsdom as a test page needs; it comes without types. */
declare module "jsdom" {
  interface Page {
    getElementById(id: string): Element | null;
    querySelector(selector: string): { readonly textContent: string | null } | null;
  }
  export class JSDOM {
    constructor(html: string, options: { url: string });
    readonly window: { readonly document: Page; close(): void };
  }
}
