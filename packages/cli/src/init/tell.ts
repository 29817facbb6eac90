import { columnsOf, hanging } from '../hanging.ts'

/** Writes to standard error, so that standard output has the files alone. */
export function tell(text: string): void {
  console.error(hanging('- ', text, 2, columnsOf(process.stderr, Infinity)))
}
