/** Of the Temporal CLI, which holds the server; `temporal-cli/go.mod` names the same. */
export const TEMPORAL_CLI_VERSION = "1.8.2";
