// The same races in full, and on both databases: see `isProof`.
import "./binding.test.ts";
