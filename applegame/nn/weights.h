/* Weights of the evaluation, by phase, then by feature; 400 points are a unit of the logistic
   function.
   Made by: python -m applegame.train --games 3000 --nodes 400 --explore 0.05 --penalty 1 --seed 1
   From: 121742 positions of 3000 games, CRC-32 546d9947 */
#ifndef QUARTET_APPLEGAME_WEIGHTS_H
#define QUARTET_APPLEGAME_WEIGHTS_H

static const int WEIGHTS[5][6] = {
    {232, 46, 31, -24, 30, 88},
    {232, 46, 31, -24, 30, 88},
    {216, 46, 12, -41, 48, 51},
    {166, 7, 42, -97, 83, 28},
    {147, 20, 42, -113, 69, 27},
};

#endif
