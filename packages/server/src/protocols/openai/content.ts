import type { UserPart } from "trackside";
import * as z from "zod";
import { filePart } from "../shared/files.ts";
import { Refusal } from "../shared/refusal.ts";

const text = z.looseObject({
  type: z.enum(["text", "input_text", "output_text", "refusal"]),
  text: z.string(),
});
const image = z.looseObject({
  type: z.enum(["image_url", "input_image"]),
  image_url: z.union([z.string(), z.looseObject({ url: z.string() })]),
});
const file = z.looseObject({
  type: z.enum(["file", "input_file"]),
  file: z.looseObject({ file_data: z.string(), filename: z.string().max(500).optional() }).optional(),
  file_data: z.string().optional(),
  file_url: z.string().optional(),
  filename: z.string().max(500).optional(),
});
const audio = z.looseObject({
  type: z.literal("input_audio"),
  input_audio: z.looseObject({ data: z.string(), format: z.enum(["wav", "mp3"]) }),
});

/** The content of a user's message in either API: text, pictures, files and sound, by value or by address. */
export function readContent(content: unknown, where: string): readonly UserPart[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  if (!Array.isArray(content) || content.length > 100)
    throw new Refusal(
      400,
      "content_invalid",
      `${where}: a text or a list of at most 100 parts expected`,
      where,
    );
  return content.map((part: unknown, i) => readPart(part, `${where}[${i}]`));
}

function readPart(part: unknown, where: string): UserPart {
  const asText = text.safeParse(part);
  if (asText.success) return { type: "text", text: asText.data.text };
  const asImage = image.safeParse(part);
  if (asImage.success) {
    const { image_url: given } = asImage.data;
    return filePart(typeof given === "string" ? given : given.url, undefined, where);
  }
  const asFile = file.safeParse(part);
  if (asFile.success) {
    const { file: inner, file_url } = asFile.data;
    const data = inner?.file_data ?? asFile.data.file_data;
    const name = inner?.filename ?? asFile.data.filename;
    if (data !== undefined) return filePart(dataUrl(data), undefined, where, name);
    if (file_url !== undefined) return filePart(file_url, "application/octet-stream", where, name);
  }
  const asAudio = audio.safeParse(part);
  if (asAudio.success) {
    const { data, format } = asAudio.data.input_audio;
    return filePart(`data:audio/${format};base64,${data}`, undefined, where);
  }
  const message = `${where}: text, image_url, input_image, file with its data or address, or input_audio expected. Files by id are not kept here.`;
  throw new Refusal(400, "content_invalid", message, where);
}

/** Some clients send the bare data. */
function dataUrl(data: string): string {
  return data.startsWith("data:") ? data : `data:application/octet-stream;base64,${data}`;
}

/** The text of a message that can only have text. */
export function readText(content: unknown, where: string): string {
  const parts = content === null || content === undefined ? [] : readContent(content, where);
  return parts
    .map((part) => {
      if (part.type === "text") return part.text;
      throw new Refusal(400, "content_invalid", `${where}: only text is allowed here`, where);
    })
    .join("");
}

/** What a client wants an agent to heed, which has instructions of its own: said with the trust of its user. */
export function withInstructions(
  parts: readonly UserPart[],
  instructions: readonly string[],
): readonly UserPart[] {
  const text = instructions.join("\n\n").trim();
  if (text === "") return parts;
  return [{ type: "text", text: `Instructions of the application:\n${text}` }, ...parts];
}
