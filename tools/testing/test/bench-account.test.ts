import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

import { properties } from '../../../bench/support/properties.ts'

const packages = join(import.meta.dirname, '../../../packages')

test.each(Object.entries(properties))(
  'the account of the bench takes code out of %s that is there',
  (_, each) => {
    for (const { file, text } of Object.values(each).flat())
      expect(readFileSync(join(packages, file), 'utf8'), file).toContain(text)
  },
)
