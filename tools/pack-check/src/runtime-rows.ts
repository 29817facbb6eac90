import { readFileSync, writeFileSync } from 'node:fs'

import type { ConformanceResult } from './conformance.ts'

/** What one runtime did: by column of the table a word. */
export interface Row {
  readonly id: string
  /** With its version. */
  readonly runtime: string
  readonly cells: Readonly<Record<string, string>>
  /** Scenarios that cannot hold there. */
  readonly differences: ConformanceResult['differences']
  /** What was printed where something does not work and should. */
  readonly trouble: readonly string[]
}

/** A row without trouble, of its day. */
export interface KeptRow extends Omit<Row, 'trouble'> {
  /** As in 2026-11-22. */
  readonly ran: string
}

const file = new URL('../runtimes.json', import.meta.url)

/** Replaces the rows of the runtimes that ran; the others stay as they were. Returns all, in the order of `ids`. */
export function keepRows(rows: readonly Row[], ids: readonly string[]): KeptRow[] {
  const kept = JSON.parse(readFileSync(file, 'utf8')) as KeptRow[]
  const ran = new Date().toISOString().slice(0, 10)
  const known = new Map(kept.map((row) => [row.id, row]))
  for (const { trouble, ...row } of rows) if (trouble.length === 0) known.set(row.id, { ...row, ran })
  const all = ids.flatMap((id) => known.get(id) ?? [])
  writeFileSync(file, `${JSON.stringify(all, null, 2)}\n`)
  return all
}
