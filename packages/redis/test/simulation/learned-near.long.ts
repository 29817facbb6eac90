// Long: fleets that learn near their API, in hours of simulated time.
import { testLearned } from './learned.ts'

testLearned([5, 15], () => 0.97, 0.3)
