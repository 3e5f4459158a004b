{-# LANGUAGE GADTs #-}
-- | A small shop.
module Shop.Item (Item (..), load) where

import qualified Data.Map as Map
import Data.List (sortBy)

-- | One thing to sell.
--
-- The second paragraph is left out.
data Item a = Item
  { name :: String -- ^ how it is shown
  , price :: !Price
  }
  | Empty
  deriving (Show, Eq)

newtype Id = Id Int deriving newtype (Eq)

type Handler = Item Int -> IO ()

type family Element a where
  Element String = Char

data Term a where
  Number :: Int -> Term Int

-- | Everything with a name.
class (Eq a, Show a) => Named a where
  -- | The name itself.
  nameOf :: a -> String
  nameOf _ = "nameless"

  (<~>) :: a -> a -> Bool

instance Named (Item a) where
  nameOf item = name item
  left <~> right = nameOf left == nameOf right

instance Named Id where
  nameOf = show

deriving instance Show (Term a)

-- | Loads an item by its key.
{-# INLINE load #-}
load
  :: Monad m
  => String
  -> m (Maybe (Item Int))
load "" = pure Nothing
load key
  | null key = go 1
  | otherwise = do
      row <- Store.find key
      let cleaned = Map.lookup key row
      return $ build cleaned
  where
    limit = 3
    go depth = go (depth + limit)
    helper :: Int -> Int
    helper = id

-- | How many days a cart lives.
cartDays :: Int
cartDays = 14

infixl 6 <+>

(<+>) :: Price -> Price -> Price
Price a <+> Price b = Price (a + b)

a `plus` b = a + b

pattern Free :: Price
pattern Free = Price 0

foreign import ccall "math.h sin" c_sin :: Double -> Double

main :: IO ()
main = hspec $ do
  describe "load" $ it "finds nothing" $ load "" `shouldBe` Nothing
