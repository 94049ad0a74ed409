// Holds the write lock of a SQLite database until it is told to let go.
import { once } from "node:events";
import Database from "better-sqlite3";

const db = new Database(process.argv[2]);
db.exec("BEGIN IMMEDIATE");
db.prepare("INSERT INTO wakes (run_id, what, at) VALUES ('r', 'keeper', 1)").run();
console.log("locked");
await once(process.stdin, "data");
db.exec("COMMIT");
db.close();
process.exit(0);
