import { execFile } from "node:child_process";

/**
 * Runs a TypeScript file against the workspace's source, with no API key, to its own end. Rejects, with what the
 * program printed, when it fails or does not end in time.
 */
export function runProgram(
  file: string,
  { cwd, timeoutMs }: { cwd: string; timeoutMs: number },
): Promise<string> {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/_API_KEY$/.test(name)));
  const args = ["--conditions=@trackside/source", file];
  return new Promise((resolve, reject) => {
    const child = execFile(
      process.execPath,
      args,
      { cwd, env, timeout: timeoutMs },
      (error, stdout, stderr) => {
        if (!error) return resolve(stdout);
        const how = error.killed ? `did not end within ${timeoutMs} ms` : `exited with ${error.code}`;
        reject(new Error(`${file} ${how}\n${stdout}${stderr}`));
      },
    );
    child.stdin?.end();
  });
}
