import type { FilePart, UserPart } from "trackside/schema";
import { formatBytes } from "../../format/number.ts";
import { LinkIcon } from "../../ui/icons.tsx";
import { safeLink } from "../../ui/safe-link.ts";
import { pictureOf } from "./attachments.ts";

/** What a user said: text as it was typed, pictures that came with it, other files by name. */
export function Said({ parts }: { parts: readonly UserPart[] }) {
  const text = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n\n");
  const files = parts.filter((part) => part.type === "file");
  return (
    <>
      {text && <p className="measure break-words whitespace-pre-wrap">{text}</p>}
      {files.length > 0 && (
        <ul className="mt-2 flex flex-wrap gap-2 first:mt-0">
          {files.map((file, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: files of a message never change places
            <li key={at}>
              <SentFile file={file} />
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function SentFile({ file }: { file: FilePart }) {
  const name = file.filename ?? file.media_type;
  const picture = pictureOf(file);
  if (picture)
    return <img src={picture} alt={name} className="max-h-40 max-w-full rounded-md border border-line" />;
  const { source } = file;
  const address = source.kind === "url" ? safeLink(source.url) : undefined;
  return (
    <span className="inline-flex h-7 max-w-full items-center gap-1.5 rounded-md border border-line bg-canvas px-2 text-sm">
      {/* A file elsewhere is a link to it: nothing is loaded from there. */}
      {address ? (
        <a
          href={address}
          target="_blank"
          rel="noopener noreferrer nofollow"
          className="flex items-center gap-1 truncate text-accent underline"
        >
          <LinkIcon width={12} height={12} />
          {name}
        </a>
      ) : (
        <span className="truncate">{name}</span>
      )}
      {source.kind === "base64" && (
        <span className="text-xs text-faint">{formatBytes(Math.floor((source.data.length * 3) / 4))}</span>
      )}
    </span>
  );
}
