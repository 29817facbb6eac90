import { limiterContract, storeContract } from '@tokenlane/conformance'

import { redisLimiter, redisTokenStore } from '../src/index.ts'
import { useRedis } from './support/use-redis.ts'

const redis = useRedis()

storeContract({ name: 'redisTokenStore', open: () => redisTokenStore({ client: redis.client }) })
limiterContract({
  name: 'redisLimiter',
  create: (api) => redisLimiter({ client: redis.client, fallbackShare: 1 })(api),
})
