// Loads every entry that it is given: node entries.mjs import @tokenlane/core @tokenlane/core/node
import { createRequire } from 'node:module'

const [how, ...names] = process.argv.slice(2)
const load = how === 'require' ? createRequire(import.meta.url) : (name) => import(name)
for (const name of names)
  if (Object.keys(await load(name)).length === 0) throw new Error(`${name} exports nothing`)
