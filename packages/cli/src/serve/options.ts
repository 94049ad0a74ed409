import { Complaint } from "../complaint.ts";

/** Options of commands that serve. */
export const SERVING_OPTIONS = {
  config: { type: "string" },
  host: { type: "string" },
  port: { type: "string" },
  model: { type: "string" },
  help: { type: "boolean", short: "h" },
} as const;

export const SERVING_OPTIONS_HELP = `  --config file           the config; else trackside.config.ts here or in the nearest folder above
  --host address          where to listen; this machine only unless given or configured
  --port number           4711 unless given or configured; 0 takes a free one`;

export interface Where {
  readonly host?: string;
  readonly port?: number;
}

/** Where to listen, as the command line says. */
export function whereOf(values: { host?: string | undefined; port?: string | undefined }): Where {
  const { host, port } = values;
  if (port !== undefined && !(/^\d{1,5}$/.test(port) && Number(port) <= 65_535))
    throw new Complaint(`--port takes a number from 0 to 65535, not ${JSON.stringify(port)}.`);
  return {
    ...(host === undefined ? {} : { host }),
    ...(port === undefined ? {} : { port: Number(port) }),
  };
}
