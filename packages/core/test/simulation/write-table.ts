// Writes the table of docs/guide/rate-policy.md: `pnpm --dir tools/docs write quota`.
import { readFileSync, writeFileSync } from 'node:fs'
import { page, withQuotaTable } from './quota-table.ts'

writeFileSync(page, await withQuotaTable(readFileSync(page, 'utf8')))
