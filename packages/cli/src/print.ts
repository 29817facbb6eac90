/** Writes a result to standard output. What the application logs with `console.log` goes to standard error. */
export function print(text: string): void {
  process.stdout.write(`${text}\n`)
}
