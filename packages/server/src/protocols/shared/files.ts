import type { UserPart } from "trackside";
import { Refusal } from "./refusal.ts";

const DATA_URL = /^data:([\w.+-]+\/[\w.+-]+)?((?:;[\w.+-]+=[^;,]*)*)(;base64)?,/i;

/** A file that a client names by address: one for the provider to get, or the file itself as a data URL. */
export function filePart(
  url: string,
  mediaType: string | undefined,
  where: string,
  filename?: string,
): UserPart {
  const named = filename === undefined ? {} : { filename };
  if (/^data:/i.test(url)) {
    const [head, type, , isBase64] = DATA_URL.exec(url.slice(0, 1024)) ?? [];
    if (head === undefined) throw new Refusal(400, "file_invalid", `${where}: this is no data URL`, where);
    const rest = url.slice(head.length);
    const data = isBase64 ? rest : Buffer.from(decodeURIComponent(rest), "utf8").toString("base64");
    if (isBase64 && !/^[A-Za-z0-9+/_-]*={0,2}$/.test(data))
      throw new Refusal(400, "file_invalid", `${where}: its data is not base64`, where);
    const media_type = mediaType ?? type ?? "application/octet-stream";
    return { type: "file", media_type, ...named, source: { kind: "base64", data } };
  }
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url))
    throw new Refusal(400, "file_invalid", `${where}: an http, https or data URL expected`, where);
  return { type: "file", media_type: mediaType ?? "image/*", ...named, source: { kind: "url", url } };
}
