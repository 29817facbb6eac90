/** Writes what was asked for to standard output. `console.log` is the application's, and goes to standard error. */
export function print(text: string): void {
  process.stdout.write(`${text}\n`)
}
