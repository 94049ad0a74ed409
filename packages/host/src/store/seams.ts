/**
 * Where tests reach in: around every commit of a transaction that wrote. One that throws before a commit stands for a disk
 * that failed; one that ends the process is a crash at that very point.
 */
export interface StoreSeams {
  beforeCommit?(): void;
  afterCommit?(): void;
}
