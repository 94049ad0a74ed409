import { SILENCE, send, serve, text, tool, write } from "./wire.ts";

/** Good lines between bad ones, as from a program whose libraries print to stdout. */
const RUBBISH = [
  "npm warn using --force",
  "",
  "{",
  "null",
  "42",
  '"a string"',
  "[]",
  "[1,2,3]",
  "{}",
  '{"jsonrpc":"1.0","id":1,"result":{}}',
  '{"jsonrpc":"2.0"}',
  '{"jsonrpc":"2.0","id":{"a":1},"result":{}}',
  '{"jsonrpc":"2.0","id":null,"result":{}}',
  '{"jsonrpc":"2.0","id":"nobody","result":{}}',
  '{"jsonrpc":"2.0","id":99999,"error":{"code":"x"}}',
  '{"jsonrpc":"2.0","method":7}',
  '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":[],"progress":"soon"}}',
  '{"jsonrpc":"2.0","method":"notifications/nobody/knows"}',
  '{"jsonrpc":"2.0","id":"r1","method":"no/such/request"}',
  '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}',
  "\u0000\u0001\u001b[31m\ufffd",
  "x".repeat(10_000),
];

const rubbish = () => {
  for (const line of RUBBISH) write(`${line}\n`);
};

serve({
  tools: [tool("echo"), tool("only-rubbish")],
  calls: {
    echo: (_, { id }) => {
      rubbish();
      send({ id, result: text("between the lines") });
      rubbish();
      return SILENCE;
    },
    "only-rubbish": () => {
      rubbish();
      return SILENCE;
    },
  },
});
