// Writes the dashboard, the alert rules and the tables of the README.
import { readFileSync, writeFileSync } from 'node:fs'
import { generatedFiles, readme, withTables } from './generated.ts'

for (const [path, text] of generatedFiles()) writeFileSync(path, text)
writeFileSync(readme, withTables(readFileSync(readme, 'utf8')))
