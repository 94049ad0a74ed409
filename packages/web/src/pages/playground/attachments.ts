import type { FilePart, UserPart } from "trackside/schema";
import { formatBytes } from "../../format/number.ts";

/** For all files of a message: base64 makes them a third larger, and the server takes 32 MB. */
export const MOST_BYTES = 20_000_000;
export const MOST_FILES = 10;

export interface Attachment {
  readonly id: string;
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: number;
  readonly data: string;
}

/** What is wrong with adding these; undefined when nothing is. */
export function attachmentProblem(
  there: readonly Pick<Attachment, "bytes">[],
  added: readonly { readonly name: string; readonly size: number }[],
): string | undefined {
  if (there.length + added.length > MOST_FILES) return `A message takes at most ${MOST_FILES} files.`;
  const empty = added.find(({ size }) => size === 0);
  if (empty !== undefined) return `${empty.name} is empty.`;
  const sum =
    there.reduce((all, { bytes }) => all + bytes, 0) + added.reduce((all, { size }) => all + size, 0);
  if (sum > MOST_BYTES)
    return `Files of a message may have ${formatBytes(MOST_BYTES)} together; these have ${formatBytes(sum)}.`;
  return undefined;
}

export async function readFiles(files: readonly File[]): Promise<Attachment[]> {
  return Promise.all(
    files.map(async (file) => ({
      id: `${file.name}-${file.size}-${file.lastModified}`,
      name: file.name,
      mediaType: file.type || "application/octet-stream",
      bytes: file.size,
      data: base64(new Uint8Array(await file.arrayBuffer())),
    })),
  );
}

/** In pieces: a function takes only so many arguments. */
export function base64(bytes: Uint8Array): string {
  let binary = "";
  for (let at = 0; at < bytes.length; at += 8192)
    binary += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(binary);
}

/** What is sent: a text alone where there is nothing else. */
export function partsOf(text: string, attachments: readonly Attachment[]): UserPart[] {
  const files = attachments.map(
    ({ name, mediaType, data }): FilePart => ({
      type: "file",
      media_type: mediaType,
      filename: name,
      source: { kind: "base64", data },
    }),
  );
  return text.trim() === "" ? files : [{ type: "text", text }, ...files];
}

/** Pictures that are shown in place: by value only, nothing is loaded from elsewhere. */
export function pictureOf(part: FilePart): string | undefined {
  if (part.source.kind !== "base64" || !/^image\/(png|jpeg|gif|webp)$/.test(part.media_type))
    return undefined;
  return `data:${part.media_type};base64,${part.source.data}`;
}
