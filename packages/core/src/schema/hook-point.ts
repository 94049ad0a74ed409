import * as z from "zod";
import { HookPoint } from "./points.ts";

export const hookPoint = z.enum(HookPoint);
