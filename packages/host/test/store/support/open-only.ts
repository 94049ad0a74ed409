// Opens a database and says how that went.
import { StoreError, sqlite } from "../../../src/store/index.ts";

const store = sqlite(process.argv[2] ?? "");
try {
  await store.open();
  console.log("open");
} catch (error) {
  console.log(error instanceof StoreError ? `${error.fault} ${error.message}` : String(error));
}
