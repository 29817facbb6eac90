// Opens the page that an error message points to, as a user does who has only the installed package.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createTokenManager } from '@tokenlane/core'

assert.throws(
  () => createTokenManager({}),
  ({ message }) => {
    const [, file, section] = /\(see (\S+)#(\w+)\)$/.exec(message)
    const headings = readFileSync(file, 'utf8').matchAll(/^## (.+)$/gm)
    // as forges make anchors of headings
    const anchors = Array.from(headings, ([, heading]) => heading.toLowerCase().replaceAll(' ', '-'))
    assert.ok(anchors.includes(section), `${file} has no section ${section}`)
    return true
  },
)
