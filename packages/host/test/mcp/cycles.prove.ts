import { connectCycles } from "./support/connect-cycles.ts";

connectCycles("stdio", 500);
connectCycles("http", 500);
