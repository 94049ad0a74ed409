export { type Answer, Answers, type Asked, type Asking } from "./answers.ts";
