/** What the user has to mend before anything can run: wrong arguments, a file that does not load. Exit code 2. */
export class Complaint extends Error {
  override readonly name = "Complaint";
}
