// The room of what stands between two messages where a server wants one of the other role there (F046, F128).

/** What the model is made to have said, before a person speaks. */
export const noted = "Noted.";

/** What a person is made to have said, before the model goes on. */
export const goOn = "Continue.";
