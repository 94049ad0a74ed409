// The same races in full, and on both databases: see `isProof`.
import "./cancel.test.ts";
