import { fakeTokens } from '@tokenlane/core/testing'
import { installTokens } from '@tokenlane/fetch'

installTokens(fakeTokens({ apis: [process.env['API']!] }))
