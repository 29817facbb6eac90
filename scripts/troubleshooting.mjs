// Writes the troubleshooting page of the guide into the core package, where its error messages point: a user who has
// only the npm package can open it offline. Links to other pages become their text, since those are not in the package.
import { readFileSync, writeFileSync } from 'node:fs'

const guide = new URL('../docs/guide/troubleshoot.md', import.meta.url)
const page = readFileSync(guide, 'utf8').replaceAll(/\[([^\]]+)\]\((?!https:|#)[^)]+\)/g, '$1')
writeFileSync(new URL('../packages/core/troubleshoot.md', import.meta.url), page)
