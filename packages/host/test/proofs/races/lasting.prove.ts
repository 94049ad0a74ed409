// The same races in full, and on both databases: see `isProof`.
import "./lasting.test.ts";
