// `tsc -b --clean` leaves what came of sources that are gone.
import { readdirSync, rmSync } from 'node:fs'

const packages = new URL('../packages/', import.meta.url)
for (const name of readdirSync(packages))
  rmSync(new URL(`${name}/dist`, packages), { recursive: true, force: true })
