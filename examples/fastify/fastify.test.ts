import { testServer } from '@tokenlane/testing/example-programs'

testServer(new URL('main.ts', import.meta.url))
