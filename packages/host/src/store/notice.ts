/** Told what a person should know and can act on, such as which process holds the database up. */
export type OnNotice = (message: string) => void;

/** Without a listener it is a warning of the process: on stderr, once, never thrown. */
export const warn: OnNotice = (message) => process.emitWarning(message, "TracksideWarning");
