import type { Handlers } from "../http/handler.ts";
import { whole } from "../http/page.ts";
import { tenantOf } from "../http/scope.ts";

export const artifactHandlers = {
  async listArtifacts({ query: { run, conversation, limit } }, context) {
    const found = await context.trackside.artifacts.list({
      ...tenantOf(context),
      limit,
      ...(run === undefined ? {} : { run }),
      ...(conversation === undefined ? {} : { conversation }),
    });
    return whole(found);
  },

  async getArtifact({ params: { id } }, context) {
    const { content: _, ...record } = await context.trackside.artifacts.get(id, tenantOf(context));
    return record;
  },

  /** Always a download: what a tool wrote is never shown as a page of ours. */
  async readArtifact({ params: { id } }, context) {
    const { content, media_type, bytes } = await context.trackside.artifacts.get(id, tenantOf(context));
    return new Response(new Uint8Array(content), {
      headers: {
        "content-type": SHOWN_AS_TEXT.test(media_type)
          ? "text/plain; charset=utf-8"
          : "application/octet-stream",
        "content-length": String(bytes),
        "content-disposition": `attachment; filename="${id.replaceAll(/[^\w.-]/g, "_")}${extensionOf(media_type)}"`,
        "content-security-policy": "sandbox; default-src 'none'",
      },
    });
  },
} satisfies Partial<Handlers>;

const SHOWN_AS_TEXT = /^(text\/|application\/(json|[\w.-]+\+json|xml)\b)/;

const EXTENSIONS: Readonly<Record<string, string>> = {
  "application/json": ".json",
  "text/plain": ".txt",
  "text/markdown": ".md",
  "text/csv": ".csv",
  "image/png": ".png",
  "image/jpeg": ".jpg",
  "application/pdf": ".pdf",
};

function extensionOf(mediaType: string): string {
  return EXTENSIONS[mediaType.split(";")[0] ?? ""] ?? "";
}
