// Writes the dashboard, the alert rules and the tables of the README.
import { readFileSync, writeFileSync } from 'node:fs'
import { generatedFiles, readme, withList } from './generated.ts'

for (const [path, text] of generatedFiles()) writeFileSync(path, text)
writeFileSync(readme, withList(readFileSync(readme, 'utf8')))
