"""What private hypothesis tests share: their results, their null laws, and p-values that have the noise in them."""
