//! The page of each finding's code, in English and Chinese.
