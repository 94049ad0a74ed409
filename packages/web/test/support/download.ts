import { text } from "node:stream/consumers";
import type { Download } from "playwright-core";

/** The content of a download. The browser is shared, so the file itself belongs to another process. */
export async function downloadText(download: Download): Promise<string> {
  return text(await download.createReadStream());
}
